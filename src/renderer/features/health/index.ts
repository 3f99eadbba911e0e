/** How the machine, the agents and their processes are, and what the log says. */
export { HealthView } from './HealthView.tsx'
