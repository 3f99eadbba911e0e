import { describeDriverConformance } from '../conformance.ts'
import { codexFixture } from './codex-fixture.ts'

describeDriverConformance(codexFixture)
