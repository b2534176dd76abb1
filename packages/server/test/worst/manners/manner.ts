/** How clients send the same input, and read its answer. */
export const manners = ["whole", "pieces", "slowly", "many", "unread"] as const
export type Manner = (typeof manners)[number]

export const mannerLimits = {
  /** Clients at the same time. */
  clients: { whole: 1, pieces: 4, slowly: 8, many: 8, unread: 8 },
  /** Pieces of one byte in one exchange; what is left follows as one piece. */
  piecesMax: 250_000,
  /** A slow client sends its bytes in so many slices, with a rest after each. */
  slices: 25,
  sliceRestMs: 100,
  /** How long a client that does not read keeps its connection after it has sent all. */
  unreadMs: 3_000,
  /** What such a client reads of a dialogue, so that it comes to its end. */
  unreadBytesMin: 2_000,
  /** A client that has no answer by then leaves. */
  exchangeMsMax: 30_000,
} as const satisfies {
  readonly clients: Readonly<Record<Manner, number>>
  readonly [limit: string]: unknown
}
