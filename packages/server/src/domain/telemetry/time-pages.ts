import type { RunBatches, RunSample } from "../stats/stats.ts"

/** Nanoseconds in a millisecond. */
export const nanosPerMs = 1_000_000n

/** Something that happened during a run. */
export interface TimedItem {
  /** In nanoseconds. */
  readonly at: bigint
  /** Decides between items of the same time. */
  readonly key: string
}

/** A page of items, cut by time. */
export interface TimePageRequest {
  readonly direction: "asc" | "desc"
  readonly limit: number
  /** In nanoseconds; both are exclusive. */
  readonly start?: bigint | undefined
  readonly end?: bigint | undefined
}

/** How items of runs are found. */
export interface TimePageRules {
  /** An item happens at most this long after the start of its run. */
  readonly spanMs: number
  /** A page never ends within this many nanoseconds: its links could not tell where to go on. */
  readonly unit: bigint
  /** Runs that one page looks at, which bounds its time. */
  readonly runsMax: number
  /** Items of a page, which may exceed its limit by those of one unit. */
  readonly itemsMax: number
}

/** The items of a page, in its direction. */
export interface TimePage<Item> {
  readonly items: readonly Item[]
  /** Where the next page starts, or ends if it descends; undefined if there is none. */
  readonly next: bigint | undefined
}

/** Runs by the time of their start: after `since`, until `until`. */
export type WalkSpan = (since: number, until: number, direction: "asc" | "desc") => RunBatches

const beginning = -8.64e15
const forever = 8.64e15

/**
 * Finds a page of the items of runs. Runs are read by the time of their start, because that is what
 * indexes have; an item happens a while later. It stops when no run that is left can have an item of
 * this page, or after `runsMax` runs: then runs that started longer ago may be missing.
 */
export function findTimePage<Item extends TimedItem>(
  request: TimePageRequest,
  rules: TimePageRules,
  walk: WalkSpan,
  toItems: (batch: readonly RunSample[]) => Promise<readonly Item[]>,
): Promise<TimePage<Item>> {
  const search = new Search(request, rules, toItems)
  return request.direction === "asc" ? ascend(search, walk) : descend(search, walk)
}

async function descend<Item extends TimedItem>(
  search: Search<Item>,
  walk: WalkSpan,
): Promise<TimePage<Item>> {
  const { request, rules } = search
  const since = request.start === undefined ? beginning : toMs(request.start) - rules.spanMs - 1
  const until = request.end === undefined ? forever : toMs(request.end)
  for await (const batch of walk(since, until, "desc")) {
    await search.add(batch)
    const last = batch.at(-1)
    if (!last) break
    // The runs that are left started then or earlier.
    if (search.isFullBeyond(toNanos(last.startedAt + rules.spanMs + 1)) || search.isExhausted) {
      const { items } = search.toPage()
      return { items, next: items.at(-1)?.at ?? toNanos(last.startedAt + 1) }
    }
  }
  const { items, hasMore } = search.toPage()
  return { items, next: hasMore ? items.at(-1)?.at : undefined }
}

async function ascend<Item extends TimedItem>(
  search: Search<Item>,
  walk: WalkSpan,
): Promise<TimePage<Item>> {
  const { request, rules } = search
  const since = request.start === undefined ? beginning : toMs(request.start)
  const until = request.end === undefined ? forever : toMs(request.end)
  // Runs that had started before, the latest first.
  if (request.start !== undefined && rules.spanMs > 0)
    for await (const batch of walk(since - rules.spanMs - 1, Math.min(since, until), "desc")) {
      await search.add(batch)
      if (search.isExhausted) break
    }
  search.restart()
  for await (const batch of walk(since, until, "asc")) {
    await search.add(batch)
    const last = batch.at(-1)
    if (!last) break
    // The runs that are left started then or later.
    const known = toNanos(last.startedAt)
    if (search.isFullBeyond(known)) break
    if (search.isExhausted) {
      const { items } = search.toPage(known)
      return { items, next: items.at(-1)?.at ?? known - nanosPerMs }
    }
  }
  const { items } = search.toPage()
  return { items, next: items.at(-1)?.at }
}

/** The items that may be on the page, in its direction. */
class Search<Item extends TimedItem> {
  readonly request: TimePageRequest
  readonly rules: TimePageRules
  readonly #toItems: (batch: readonly RunSample[]) => Promise<readonly Item[]>
  #items: Item[] = []
  #hasMore = false
  #runs = 0

  constructor(
    request: TimePageRequest,
    rules: TimePageRules,
    toItems: (batch: readonly RunSample[]) => Promise<readonly Item[]>,
  ) {
    this.request = request
    this.rules = rules
    this.#toItems = toItems
  }

  /** Whether the page has looked at as many runs as it may. */
  get isExhausted(): boolean {
    return this.#runs >= this.rules.runsMax
  }

  /** Counts the runs of another walk. */
  restart(): void {
    this.#runs = 0
  }

  async add(batch: readonly RunSample[]): Promise<void> {
    this.#runs += batch.length
    const { start, end } = this.request
    for (const item of await this.#toItems(batch))
      if ((start === undefined || item.at > start) && (end === undefined || item.at < end))
        this.#items.push(item)
    this.#items.sort(this.request.direction === "asc" ? compare : (a, b) => compare(b, a))
    const { length } = this.#items
    this.#items.length = this.#countShown()
    this.#hasMore ||= this.#items.length < length
  }

  /** Whether the page is full of items that come before all those of that time and behind it. */
  isFullBeyond(at: bigint): boolean {
    const last = this.#items[this.request.limit - 1]
    if (!last) return false
    return this.request.direction === "asc" ? last.at < at : last.at >= at
  }

  /** The page; with `before`, only its items before then. */
  toPage(before?: bigint): { readonly items: readonly Item[]; readonly hasMore: boolean } {
    const items = before === undefined ? this.#items : this.#items.filter((it) => it.at < before)
    return { items, hasMore: this.#hasMore }
  }

  /** The limit, and all other items in the unit of the last one. */
  #countShown(): number {
    const { limit } = this.request
    const { unit, itemsMax } = this.rules
    const last = this.#items[limit - 1]
    if (!last) return this.#items.length
    let count = limit
    while (
      count < itemsMax &&
      this.#items[count] &&
      toUnit(this.#items[count], unit) === toUnit(last, unit)
    )
      count += 1
    return count
  }
}

function toUnit(item: TimedItem | undefined, unit: bigint): bigint {
  return (item?.at ?? 0n) / unit
}

function compare(one: TimedItem, other: TimedItem): number {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1
  return one.key < other.key ? -1 : one.key > other.key ? 1 : 0
}

/** The millisecond of a time in nanoseconds. */
function toMs(nanos: bigint): number {
  return Number(nanos / nanosPerMs)
}

/** A time in nanoseconds. */
export function toNanos(ms: number): bigint {
  return BigInt(ms) * nanosPerMs
}
