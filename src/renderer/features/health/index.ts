/** How the machine, the agents and their processes are, and what the log says. */
export { AddAgentButton } from './AddAgentButton.tsx'
export { HealthView } from './HealthView.tsx'
export { readinessOf } from './readiness.ts'
