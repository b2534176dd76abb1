import { ApiError, type Client, type Input, type Output } from "@hamlet/contract/client"
import { transferLimits as limits } from "./archive-limits.ts"
import type { ImportedVal } from "./read-val.ts"

/** The result of importing one val. */
export type ImportResult = Output<"importVals">["results"][number]

/** A val to upload. */
export interface OutgoingVal {
  readonly path: string
  readonly val: ImportedVal
  /** The names of vals to import before it. */
  readonly imports: readonly string[]
}

/** How vals are imported. */
export type SendOptions = Pick<Input<"importVals">, "dryRun" | "ifExists">

/** Called with the result of each val. */
type OnResult = (outgoing: OutgoingVal, result: ImportResult) => void

/**
 * Uploads vals in batches, several at a time. A batch waits for the batches that contain its
 * imports. After a failure no new batch is sent and those in flight are awaited: each val is
 * imported as a whole or not at all.
 */
export async function sendVals(
  client: Client,
  vals: AsyncIterable<OutgoingVal>,
  options: SendOptions,
  onResult: OnResult,
): Promise<void> {
  const inFlight = new Map<string, Promise<void>>()
  const batches = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  for await (const batch of toBatches(vals)) {
    while (batches.size >= limits.batchesMax) await Promise.race(batches)
    await Promise.all(
      new Set(batch.flatMap(({ imports }) => imports.map((name) => inFlight.get(name)))),
    )
    if (failure) break
    const names = batch.map(({ val }) => val.name.toLowerCase())
    const sending = sendBatch(client, batch, options, onResult)
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => {
        batches.delete(sending)
        for (const name of names) inFlight.delete(name)
      })
    batches.add(sending)
    for (const name of names) inFlight.set(name, sending)
  }
  await Promise.all(batches)
  if (failure) throw failure.error
}

async function* toBatches(
  vals: AsyncIterable<OutgoingVal>,
): AsyncGenerator<readonly OutgoingVal[]> {
  let batch: OutgoingVal[] = []
  let chars = 0
  for await (const outgoing of vals) {
    const more = countChars(outgoing.val)
    if (
      batch.length >= limits.batchValsMax ||
      (batch.length > 0 && chars + more > limits.batchCharsMax)
    ) {
      yield batch
      batch = []
      chars = 0
    }
    batch.push(outgoing)
    chars += more
  }
  if (batch.length > 0) yield batch
}

/** The approximate length of its JSON. */
function countChars({ readme, versions, comments = [] }: ImportedVal): number {
  const texts = [
    readme?.length ?? 0,
    ...versions.map(({ code }) => code.length),
    ...comments.map(({ comment }) => comment.length),
  ]
  return texts.reduce((sum, length) => sum + length + 100, 100)
}

async function sendBatch(
  client: Client,
  batch: readonly OutgoingVal[],
  options: SendOptions,
  onResult: OnResult,
): Promise<void> {
  try {
    const { results } = await client.importVals({ vals: batch.map(({ val }) => val), ...options })
    for (const [index, outgoing] of batch.entries())
      onResult(outgoing, results[index] ?? lost(outgoing))
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "body_too_large")) throw error
    const [only] = batch
    if (only && batch.length === 1) return onResult(only, tooLarge(only))
    // The server's limit is not known here: halve the batch.
    const middle = Math.ceil(batch.length / 2)
    await sendBatch(client, batch.slice(0, middle), options, onResult)
    await sendBatch(client, batch.slice(middle), options, onResult)
  }
}

function tooLarge({ val }: OutgoingVal): ImportResult {
  const { name, versions } = val
  const message = `Cannot import val "${name}": with ${versions.length} versions it is larger than the server allows; import only the newest with "--versions 1"`
  return { name, status: "failed", message }
}

function lost({ val: { name } }: OutgoingVal): ImportResult {
  return {
    name,
    status: "failed",
    message: `Cannot import val "${name}": the server returned no result for it`,
  }
}
