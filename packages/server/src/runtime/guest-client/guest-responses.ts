import {
  brokenResponse,
  type CallOutcome,
  type Stopped,
  type ValResponse,
} from "../../domain/runs/runner.ts"
import { WorkerPoolError } from "../../shared/threads/worker-pool.ts"
import type { ValProcess } from "../processes/val-process.ts"

/** The outcome of a call, and how many log lines of the run the guest had sent before it. */
export interface GuestResponse<Outcome> {
  readonly outcome: Outcome
  readonly logCount: number
}

const failureBytesMax = 1024 ** 2
const envelopeBytesMax = 1024

/** Reads the failure in a response. The val's process wrote it, so it may contain anything. */
export function readFailure(
  response: ValResponse,
  process: ValProcess,
): Promise<GuestResponse<Stopped>> {
  return orExplain(async () => {
    const bytes = await readBytes(response, failureBytesMax)
    const value =
      bytes && (await process.valueReader.readFailure(process.ownerId, bytes, process.secretMask))
    return (
      value && {
        outcome: { kind: "stopped", status: "failed", error: value.error },
        logCount: value.logCount,
      }
    )
  })
}

/** Reads the value that a call returned. */
export function readReturned(
  response: ValResponse,
  process: ValProcess,
): Promise<GuestResponse<CallOutcome>> {
  return orExplain<CallOutcome>(async () => {
    const bytes = await readBytes(response, process.limits.returnBytesMax + envelopeBytesMax)
    const value =
      bytes && (await process.valueReader.readReturned(process.ownerId, bytes, process.secretMask))
    if (!value) return undefined
    const { json, kept, isTruncated, logCount } = value
    return { outcome: { kind: "returned", json, kept, isTruncated: isTruncated }, logCount }
  })
}

async function orExplain<Outcome>(
  read: () => Promise<GuestResponse<Outcome> | undefined>,
): Promise<GuestResponse<Outcome | Stopped>> {
  try {
    return (await read()) ?? unreadable("The val sent a response that cannot be read")
  } catch (error) {
    if (!(error instanceof WorkerPoolError))
      return unreadable("The val sent a response that cannot be read")
    return unreadable(`The val sent a response that could not be read: ${error.message}`)
  }
}

function unreadable(message: string): GuestResponse<Stopped> {
  return {
    outcome: { kind: "stopped", status: "failed", error: { name: brokenResponse, message } },
    logCount: 0,
  }
}

/** Undefined if there are too many. */
async function readBytes({ body }: ValResponse, bytesMax: number): Promise<Uint8Array | undefined> {
  if (body instanceof Uint8Array) return body.length <= bytesMax ? body : undefined
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    if (bytes > bytesMax) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
