/** One notification of the system's. */
export interface Card {
  /** A card takes the place of the one with its tag. */
  tag: string
  /** How it counts in a summary. What waits for the person stays until it is answered; news may go by itself. */
  about: 'waiting' | 'news'
  title: string
  body: string
  buttons: readonly string[]
}

export interface CardEvents {
  clicked(): void
  /** By its place in `buttons`. */
  pressed(button: number): void
  /** The person or the system put it away. Not told of a card that was closed or replaced. */
  dismissed(): void
}

/** What shows the system's notifications. */
export interface NotificationPort {
  /** Whether a card would reach the person now, as far as is known. */
  isAvailable(): boolean
  /** Answers the function that takes the card away again. */
  show(card: Card, events: CardEvents): () => void
  /** Takes all cards away. */
  stop(): void
}
