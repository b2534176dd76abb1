import {
  brokenResponse,
  type CallOutcome,
  type Stopped,
  type ValResponse,
} from "../../domain/runs/runner.ts"
import { WorkerPoolError } from "../../shared/worker-pool.ts"
import type { ValProcess } from "../processes/val-process.ts"

/** What the guest said, and how many log lines of the run it had sent by then. */
export interface GuestResponse<Outcome> {
  readonly outcome: Outcome
  readonly logCount: number
}

const failureBytesMax = 1024 ** 2
const envelopeBytesMax = 1024

/**
 * The failure that an answer carries. It comes from the val's own process, so that it may be
 * anything.
 */
export function readFailure(
  answer: ValResponse,
  process: ValProcess,
): Promise<GuestResponse<Stopped>> {
  return orExplain(async () => {
    const bytes = await readBytes(answer, failureBytesMax)
    const said =
      bytes && (await process.valueReader.readFailure(process.ownerId, bytes, process.secretMask))
    return (
      said && {
        outcome: { kind: "stopped", status: "failed", error: said.error },
        logCount: said.logCount,
      }
    )
  })
}

/** What a call returned. */
export function readReturned(
  answer: ValResponse,
  process: ValProcess,
): Promise<GuestResponse<CallOutcome>> {
  return orExplain<CallOutcome>(async () => {
    const bytes = await readBytes(answer, process.limits.returnBytesMax + envelopeBytesMax)
    const said =
      bytes && (await process.valueReader.readReturned(process.ownerId, bytes, process.secretMask))
    if (!said) return undefined
    const { json, kept, isTruncated, logCount } = said
    return { outcome: { kind: "returned", json, kept, isTruncated: isTruncated }, logCount }
  })
}

async function orExplain<Outcome>(
  read: () => Promise<GuestResponse<Outcome> | undefined>,
): Promise<GuestResponse<Outcome | Stopped>> {
  try {
    return (await read()) ?? unreadable("The val gave an answer that cannot be read")
  } catch (error) {
    if (!(error instanceof WorkerPoolError))
      return unreadable("The val gave an answer that cannot be read")
    return unreadable(`The val gave an answer that could not be read: ${error.message}`)
  }
}

function unreadable(message: string): GuestResponse<Stopped> {
  return {
    outcome: { kind: "stopped", status: "failed", error: { name: brokenResponse, message } },
    logCount: 0,
  }
}

/** Undefined for too many. */
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
