import type { Page, PageRequest } from "../paging.ts"
import type { Val, ValDeps, ValFilter, ValRanking } from "./vals.ts"

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

/** Lists public vals, those with the most likes, runs or recent likes first. */
export async function listRankedVals(
  deps: Pick<ValDeps, "vals">,
  ranking: ValRanking,
  { ownerId, privacy = "public" }: ValFilter,
  page: PageRequest,
): Promise<Page<Val>> {
  if (privacy !== "public") return { items: [], hasMore: false }
  return deps.vals.listRanked(ranking, ownerId, page)
}
