export { UsageView } from './UsageView.tsx'
