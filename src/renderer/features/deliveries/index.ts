/** Where answers go beside the window, and what became of them. */
export { DeliveriesView } from './DeliveriesView.tsx'
export { Places } from './Places.tsx'
