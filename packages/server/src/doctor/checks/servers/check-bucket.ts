import { orLate } from "@hamlet/kit"
import type { Config } from "../../../config/config.ts"
import { createBucketContent, toBucketCode } from "../../../storage/blobs/s3-objects.ts"
import { about, type Finding, type Findings } from "../../finding.ts"
import { doctorLimits } from "../../limits.ts"

const check = about("bucket")

/** Whether the bucket stores a small object, returns it and deletes it, as it must for blobs. */
export async function checkBucket({ storage: { s3 } }: Pick<Config, "storage">): Promise<Findings> {
  if (!s3) return check.fine("none: large blobs are in the database")
  const place = `"${s3.bucket}" at ${s3.endpoint === undefined ? "AWS" : new URL(s3.endpoint).host}`
  const content = createBucketContent(s3, sample.length)
  // Among the blobs: the key may be limited to them.
  const id = `doctor-${Bun.randomUUIDv7()}`
  const steps = [
    { verb: "store", action: "s3:PutObject", run: () => content.write(id, toPieces()) },
    {
      verb: "return",
      action: "s3:GetObject",
      run: async () => compare(content.read(id, 0, sample.length)),
    },
    { verb: "delete", action: "s3:DeleteObject", run: () => content.remove(id) },
  ]
  const findings: Finding[] = []
  for (const { verb, action, run } of steps) {
    const code = await attempt(run)
    if (code === undefined) continue
    const state = toState(verb, code)
    const left = state === undefined ? "" : `; the object blobs/${id} ${state}`
    const found = `the bucket ${place} did not ${verb} an object: ${code}${left}`
    findings.push(...check.failure(found, toMend(code, action)))
    // What is not stored can neither be read nor deleted. What cannot be read is deleted all the same.
    if (verb !== "store") continue
    if (code === noAnswer) await attempt(() => content.remove(id))
    break
  }
  if (findings.length > 0) return findings
  return check.fine(`${place} stores, returns and deletes objects`)
}

const sample = Buffer.from("hamlet doctor")
const notReturned = "other bytes came back"
const noAnswer = `no answer within ${doctorLimits.answerMsMax / 1000} s`

async function* toPieces(): AsyncGenerator<Uint8Array> {
  yield sample
}

async function compare(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  if (!Buffer.concat(await Array.fromAsync(pieces)).equals(sample)) throw new Error(notReturned)
}

/** How the object stands after a step that failed. A late bucket may store it after its deletion. */
function toState(verb: string, code: string): string | undefined {
  if (verb === "return") return undefined
  if (code === noAnswer) return "is perhaps left"
  return verb === "delete" ? "is left" : undefined
}

/** Undefined, or why it failed. */
async function attempt(run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    const work = run().then(() => undefined)
    return await orLate(work, doctorLimits.answerMsMax, () => noAnswer)
  } catch (error) {
    const isOther = error instanceof Error && error.message === notReturned
    return isOther ? notReturned : toBucketCode(error)
  }
}

function toMend(code: string, action: string): string {
  if (code === "NoSuchBucket") return "create the bucket, or correct its name in HAMLET_S3_URL"
  if (/^(InvalidAccessKeyId|SignatureDoesNotMatch|AuthorizationHeaderMalformed)$/.test(code))
    return "correct the key, the secret and the region in HAMLET_S3_URL"
  if (code === "AccessDenied") return `allow the key ${action} on blobs/* in the bucket`
  if (code === noAnswer || /Connect|Socket|Resolve|ECONN|ENOTFOUND|Certificate|CERT/i.test(code))
    return "correct the endpoint in HAMLET_S3_URL, or start the service"
  return "look into the log of the service, and correct HAMLET_S3_URL"
}
