import { expect } from "bun:test"
import { type TestApi, type TestResponse, testBaseUrl } from "../support/api.ts"
import type { ExpectedList } from "./lists.ts"
import type { Model, Outcome, Viewer } from "./model.ts"
import { withoutServersOwn } from "./views.ts"

type Item = Record<string, unknown>

/** A part of a list. */
export interface PageOf {
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

const listMax = 100
const limitDefault = 20

/** Fails unless the answer has the status of the outcome, and the code where it is a refusal. */
export function checkOutcome(response: TestResponse, outcome: Outcome<unknown>): void {
  const said = {
    status: response.status,
    ...(response.status < 400 ? {} : { code: response.json.code }),
  }
  expect(said).toEqual(
    outcome.code === undefined
      ? { status: outcome.status }
      : { status: outcome.status, code: outcome.code },
  )
}

/** Fails unless the answer shows that record. */
export function checkRecord(record: unknown, expected: object): void {
  expect(withoutServersOwn(record as Item)).toEqual({ ...expected })
}

/** Reads the list whole and fails unless it is the expected one. Gives its items as they came. */
export async function checkList(
  api: TestApi,
  model: Model,
  viewer: Viewer,
  list: ExpectedList,
): Promise<readonly Item[]> {
  const response = await read(api, viewer, list, { limit: String(listMax) })
  checkOutcome(response, list.outcome)
  if (list.outcome.code !== undefined) return []
  const items = response.json.data as Item[]
  checkLinks(response, list, { limit: listMax }, items.length)
  if (list.orderedBy === undefined)
    expect(items.map(withoutServersOwn)).toEqual(list.outcome.value as Item[])
  else checkReferences(model, items, list.outcome.value)
  return items
}

/** Reads a page of the list and fails unless it is the cut of the whole list that was asked for. */
export async function checkPage(
  api: TestApi,
  viewer: Viewer,
  list: ExpectedList,
  whole: readonly Item[],
  page: PageOf,
): Promise<void> {
  const { limit = limitDefault, offset = 0 } = page
  const response = await read(api, viewer, list, toQuery(page))
  checkOutcome(response, list.outcome)
  if (list.outcome.code !== undefined) return
  expect(response.json.data.map(withoutLastUse)).toEqual(
    whole.slice(offset, offset + limit).map(withoutLastUse),
  )
  checkLinks(response, list, { limit, offset }, whole.length)
}

/** Reads what lies between the times of two items: `since` is exclusive, `until` inclusive. */
export async function checkPeriod(
  api: TestApi,
  viewer: Viewer,
  list: ExpectedList,
  whole: readonly Item[],
  ends: readonly [number, number],
): Promise<void> {
  const { period } = list
  if (period === undefined || whole.length === 0) return
  const timeOf = (item: Item | undefined) => String(item?.[period])
  const [since = "", until = ""] = ends.map((end) => timeOf(whole[end % whole.length])).sort()
  const response = await read(api, viewer, list, { since, until, limit: String(listMax) })
  expect(response.json.data).toEqual(
    whole.filter((item) => timeOf(item) > since && timeOf(item) <= until),
  )
}

function read(
  api: TestApi,
  viewer: Viewer,
  list: ExpectedList,
  query: Readonly<Record<string, string>>,
): Promise<TestResponse> {
  return api.call("GET", `${list.path}?${new URLSearchParams({ ...list.query, ...query })}`, {
    as: viewer,
  })
}

function toQuery({ limit, offset }: PageOf): Record<string, string> {
  return {
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(offset === undefined ? {} : { offset: String(offset) }),
  }
}

/** A neighbour is named by an absolute address when there is one, and absent when there is none. */
function checkLinks(
  response: TestResponse,
  list: ExpectedList,
  { limit = limitDefault, offset = 0 }: PageOf,
  total: number,
): void {
  const expected: Record<string, number> = { self: offset }
  if (offset + limit < total) expected.next = offset + limit
  if (offset > 0) expected.prev = Math.max(0, offset - limit)
  const links = Object.entries(response.json.links as Record<string, string>)
  expect(
    Object.fromEntries(
      links.map(([name, link]) => [name, Number(new URL(link).searchParams.get("offset"))]),
    ),
  ).toEqual(expected)
  for (const [, link] of links) {
    const { origin, pathname, searchParams } = new URL(link)
    expect({ origin, pathname, limit: searchParams.get("limit") }).toEqual({
      origin: testBaseUrl,
      pathname: list.path,
      limit: String(limit),
    })
    for (const [key, value] of Object.entries(list.query ?? {}))
      expect(searchParams.get(key)).toBe(value)
  }
}

/**
 * References come from changes at either end, and no response contains their times: the list must
 * have the right ones, each with a possible time, the latest first.
 */
function checkReferences(model: Model, items: readonly Item[], expected: readonly object[]): void {
  const sorted = (list: readonly object[]) => list.map((item) => JSON.stringify(item)).sort()
  expect(sorted(items.map(withoutServersOwn))).toEqual(sorted(expected))
  const times = items.map((item) => Date.parse(String(item.referencedAt)))
  expect(times).toEqual([...times].sort((one, other) => other - one))
  for (const [index, item] of items.entries()) {
    const { reference, dependsOn } = item as {
      reference: { id: string }
      dependsOn: { id: string }
    }
    const link = model.links.find(
      ({ from, to }) => from.id === reference.id && to.id === dependsOn.id,
    )
    expect(times[index]).toBeGreaterThanOrEqual(link?.earliest ?? Number.POSITIVE_INFINITY)
    expect(times[index]).toBeLessThanOrEqual(link?.latest ?? 0)
  }
}

/** A token is used by asking for it, which is noted at some time. */
function withoutLastUse({ lastUsedAt: _lastUsedAt, ...rest }: Item): Item {
  return rest
}
