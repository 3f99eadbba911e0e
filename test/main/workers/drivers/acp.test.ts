import { describeDriverConformance } from '../conformance.ts'
import { acpFixture } from './acp-fixture.ts'

describeDriverConformance(acpFixture)
