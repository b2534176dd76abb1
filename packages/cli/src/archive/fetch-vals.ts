import { type Client, unlessMissing } from "@hamlet/contract/client"
import { hasMoreFiles } from "../checkout/remote-tree.ts"
import { CliError } from "../cli-error.ts"
import { fetchHistory } from "../history/fetch-history.ts"
import { limits } from "../limits.ts"
import type { Val } from "../names/find-val.ts"
import { type ArchivedVal, toArchivedVal } from "./archive-format.ts"
import { archiveLimits, transferLimits } from "./archive-limits.ts"
import { fetchBranchFiles } from "./fetch-files.ts"

/** Downloads vals with everything an archive stores of them, in order, several at a time. */
export async function* fetchArchivedVals(
  client: Client,
  vals: AsyncIterable<Val>,
  hasHistory: boolean,
): AsyncGenerator<ArchivedVal> {
  const fetching: Promise<ArchivedVal | undefined>[] = []
  const next = async () => fetching.shift()
  for await (const val of withoutRepeats(vals)) {
    // The val may have been deleted meanwhile.
    const fetched = unlessMissing(fetchVal(client, val, hasHistory), "val_not_found")
    // The failure is reported when this val's turn comes; until then it is not unhandled.
    fetched.catch(() => {})
    fetching.push(fetched)
    if (fetching.length < transferLimits.fetchesMax) continue
    const first = await next()
    if (first) yield first
  }
  while (fetching.length > 0) {
    const first = await next()
    if (first) yield first
  }
}

/** A val created while a list is read shifts the others to the next page. */
async function* withoutRepeats(vals: AsyncIterable<Val>): AsyncGenerator<Val> {
  const seen = new Set<string>()
  for await (const val of vals) {
    if (!seen.has(val.id)) yield val
    seen.add(val.id)
  }
}

async function fetchVal(client: Client, val: Val, hasHistory: boolean): Promise<ArchivedVal> {
  const page = { val_id: val.id, limit: limits.pageItemsMax }
  const versions =
    val.version === 1 ? [toFirst(val)] : await collect(val, client.items("listVersions", page))
  const comments = await Array.fromAsync(client.items("listComments", page))
  // At version 1 a val may still have several files: they were saved at once.
  const files = (await hasMoreFiles(client, val))
    ? await fetchBranchFiles(client, val.id, val, refuse(val))
    : undefined
  const branches = hasHistory ? await fetchHistory(client, val) : undefined
  return toArchivedVal(val, versions, comments, {
    ...(files && { files }),
    ...(branches && { branches }),
  })
}

/** An archive that lacks a file would not be noticed. */
function refuse({ name }: Val): (problem: string) => never {
  return (problem) => {
    throw new CliError("failed", `Cannot export val "${name}": ${problem}`)
  }
}

async function collect<Item extends { readonly code: string }>(
  val: Val,
  items: AsyncIterable<Item>,
): Promise<readonly Item[]> {
  const collected: Item[] = []
  let chars = 0
  for await (const item of items) {
    chars += item.code.length
    if (chars > archiveLimits.entryBytesMax)
      throw new CliError(
        "failed",
        `Cannot export val "${val.name}": its versions together are larger than ${archiveLimits.entryBytesMax} bytes`,
      )
    collected.push(item)
  }
  return collected
}

/** At version 1 a val has no other versions. */
function toFirst({ id, version, code, versionCreatedAt }: Val) {
  return {
    val_id: id,
    version,
    code,
    createdAt: versionCreatedAt,
    note: null,
    author: null,
    runStartAt: null,
    runEndAt: null,
  }
}
