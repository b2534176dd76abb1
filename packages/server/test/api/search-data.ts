import type { TestUser } from "../support/api.ts"
import type { ApiSuite } from "./suite.ts"

/** A val as the ranking knows it. */
export interface SeededVal {
  readonly id: string
  readonly ownerId: string
  readonly name: string
  readonly code: string
  readonly readme: string | null
  readonly isPublic: boolean
  readonly likes: number
  readonly createdAt: number
}

/** Many vals of two people; others like some of them. */
export interface SearchData {
  readonly ada: TestUser
  readonly bob: TestUser
  readonly vals: readonly SeededVal[]
}

const valsCount = 1_500
const fansCount = 4
const atOnce = 10
const start = Date.parse("2024-01-01T00:00:00.000Z")

/** Makes them through the store, which is what the API would do, only sooner. */
export async function seedSearchData(suite: ApiSuite): Promise<SearchData> {
  const { vals: store, likes } = suite.api.hamlet.stores
  const { newId } = suite.api.hamlet.nouns.clock
  const [ada, bob] = [await suite.addUser(), await suite.addUser()]
  const fans = await Promise.all(Array.from({ length: fansCount }, () => suite.addUser()))
  const vals = Array.from({ length: valsCount }, (_, index) =>
    toVal(index, newId(), index % 5 === 0 ? bob : ada),
  )
  await inParts(
    vals,
    async ({ id, ownerId, name, code, readme, isPublic, likes: fansOf, createdAt }) => {
      const ownerName = (ownerId === ada.id ? ada : bob).username
      const privacy = isPublic ? "public" : name.length % 2 === 0 ? "private" : "unlisted"
      await store.create(
        {
          id,
          ownerId,
          ownerName,
          name,
          privacy,
          type: "script",
          readme,
          source: { code, imports: [] },
        },
        createdAt,
      )
      for (const fan of fans.slice(0, fansOf)) await likes.add(fan.id, id, createdAt, () => {})
    },
  )
  return { ada, bob, vals }
}

/** Texts and likes that have nothing to do with each other, the same on every run. */
function toVal(index: number, id: string, owner: TestUser): SeededVal {
  const isEnd = index < 3
  const words = [
    "export default",
    ...(index % 10 === 1 ? ["Tenth() => x"] : []),
    ...(index % 50 === 2 ? ["fiftieth foo.bar(1)"] : []),
    ...(index % 40 === 7 ? ["// über ⊕ %s%"] : []),
    ...(isEnd ? ["needleAtTheEnd"] : []),
    ...(index % 7 === 0 ? ["mixed"] : []),
  ]
  const isNamed = (every: number) => index % every === 3
  const name = `${index % 90 === 4 ? "zz" : "v"}${index}_${isNamed(3) ? "Third" : ""}${isNamed(100) ? "Hundredth" : ""}${isNamed(11) ? "Mixed" : ""}`
  return {
    id,
    ownerId: owner.id,
    name,
    code: words.join(" "),
    readme: index % 13 === 0 ? `Tenth reader of ${index}` : null,
    isPublic: index % 17 !== 5,
    // Most have none, as in life; the needles are where no sample looks.
    likes: isEnd ? 0 : index % 6 === 0 ? 1 + ((index * 7) % fansCount) : 0,
    // Several at the same moment: then the id decides.
    createdAt: start + Math.floor(index / 4) * 1000,
  }
}

async function inParts<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += atOnce)
    await Promise.all(items.slice(from, from + atOnce).map(work))
}

/**
 * The ids of the hits in their order, found by looking at every val: what search promises, without
 * how it keeps it.
 */
export function rankAll(
  vals: readonly SeededVal[],
  query: string,
  viewerId: string | undefined,
): readonly string[] {
  return vals
    .filter((val) => val.isPublic || val.ownerId === viewerId)
    .map((val) => ({ val, rank: rankOf(val, query) }))
    .filter(({ rank }) => rank !== undefined)
    .sort(
      (left, right) =>
        Number(right.rank) - Number(left.rank) ||
        right.val.likes - left.val.likes ||
        right.val.createdAt - left.val.createdAt ||
        (left.val.id < right.val.id ? 1 : -1),
    )
    .map(({ val }) => val.id)
}

/** 1 for a hit in the name, 0 for one in the code or the readme. */
function rankOf({ name, code, readme }: SeededVal, query: string): 0 | 1 | undefined {
  const wanted = query.toLowerCase()
  const isShort = [...query].length < 3
  const isNamePart = /^\w+$/.test(query)
  if (isShort && isNamePart) return name.toLowerCase().startsWith(wanted) ? 1 : undefined
  if (name.toLowerCase().includes(wanted)) return 1
  return [code, readme ?? ""].some((text) => text.toLowerCase().includes(wanted)) ? 0 : undefined
}
