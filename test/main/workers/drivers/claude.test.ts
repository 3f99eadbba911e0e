import { describeDriverConformance } from '../conformance.ts'
import { claudeFixture } from './claude-fixture.ts'

describeDriverConformance(claudeFixture)
