/** After this time a like counts half. */
const halfLifeMs = 7 * 86_400_000

/**
 * A trend is the time at which a single like would count as much as all likes of the val do. A like
 * never changes what other likes count relative to each other, so trends stay comparable without
 * being computed again. 0 is a val without likes.
 */
export function addToTrend(trend: number, likedAt: number): number {
  if (trend === 0) return likedAt
  const [latest, earlier] = trend > likedAt ? [trend, likedAt] : [likedAt, trend]
  return Math.round(latest + halfLifeMs * Math.log2(1 + 2 ** ((earlier - latest) / halfLifeMs)))
}

/** The trend without a like that it contains. */
export function removeFromTrend(trend: number, likedAt: number): number {
  const share = 2 ** ((likedAt - trend) / halfLifeMs)
  // Rounding may leave a little more than nothing.
  const rest = trend + halfLifeMs * Math.log2(1 - share)
  return share < 1 && rest > 0 ? Math.round(rest) : 0
}
