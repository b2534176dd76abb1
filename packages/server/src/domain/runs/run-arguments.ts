import { limits } from "@hamlet/contract"
import { isJsonText, parseJson, toOwnJson } from "@hamlet/kit"
import type { CallArgs, MailCall } from "@hamlet/sandbox"
import type { MailInputs } from "../mail/inbound/receive-mail.ts"
import type { Val } from "../vals/vals.ts"
import {
  type IntervalInput,
  isRequestInput,
  type LargeArgs,
  type RunInput,
  type RunStore,
} from "./runs.ts"

/** The arguments that a run is called with. `args` are those that the run records. */
export async function readCallArgs(
  mailInputs: MailInputs,
  input: RunInput | null,
  args: unknown,
): Promise<CallArgs | MailCall> {
  if (input === null || isRequestInput(input)) return Array.isArray(args) ? args : []
  switch (input.kind) {
    case "args":
      return { json: input.json }
    case "interval":
      return { typed: [toInterval(input.scheduledAt, input.lastRunAt)] }
    case "email":
      return mailInputs.read(input.messageId)
  }
}

/** Arguments of a client. Those that are too large to be recorded are stored beside the record. */
export function toStoredArgs(args: CallArgs): {
  readonly args: unknown
  readonly input: LargeArgs | null
} {
  const json = isJsonText(args) ? args.json : toOwnJson(args)
  return Buffer.byteLength(json) <= limits.runValueBytesMax
    ? { args: parseJson(json, limits.runValueBytesMax), input: null }
    : { args: json, input: { kind: "args", json } }
}

/**
 * What a file of type interval gets when it is called without arguments, so that it can be tried out:
 * as if it were due now. Undefined for others.
 */
export async function findTrialInput(
  runs: Pick<RunStore, "findLastStart">,
  val: Pick<Val, "id" | "type" | "file">,
  args: CallArgs,
  now: number,
): Promise<IntervalInput | undefined> {
  if (val.type !== "interval" || !isEmpty(args)) return undefined
  const lastRunAt = await runs.findLastStart(val.id, val.file.id)
  return { kind: "interval", scheduledAt: now, lastRunAt }
}

function isEmpty(args: CallArgs): boolean {
  if (isJsonText(args)) return /^\s*\[\s*\]\s*$/.test(args.json)
  return Array.isArray(args) && args.length === 0
}

/** The argument of a due time as the run records it. */
export function toRecordedInterval({ scheduledAt, lastRunAt }: IntervalInput): readonly unknown[] {
  const toText = (at: number) => new Date(at).toISOString()
  return [
    {
      ...(lastRunAt === null ? {} : { lastRunAt: toText(lastRunAt) }),
      scheduledAt: toText(scheduledAt),
    },
  ]
}

/** `lastRunAt` is undefined in the first run of a schedule. */
function toInterval(scheduledAt: number, lastRunAt: number | null): object {
  return {
    ...(lastRunAt === null ? {} : { lastRunAt: { $date: lastRunAt } }),
    scheduledAt: { $date: scheduledAt },
  }
}
