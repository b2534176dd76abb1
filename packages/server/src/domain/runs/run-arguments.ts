import type { CallArgs } from "./runner.ts"
import { isRequestInput, type RunInput } from "./runs.ts"

/** The arguments that a run is called with. `args` are those that the run records. */
export async function readCallArgs(input: RunInput | null, args: unknown): Promise<CallArgs> {
  if (input === null || isRequestInput(input)) return Array.isArray(args) ? args : []
  switch (input.kind) {
    case "args":
      return { json: input.json }
    case "interval":
      return { typed: [toInterval(input.scheduledAt, input.lastRunAt)] }
  }
}

/** `lastRunAt` is undefined in the first run of a schedule. */
function toInterval(scheduledAt: number, lastRunAt: number | null): object {
  return {
    ...(lastRunAt === null ? {} : { lastRunAt: { $date: lastRunAt } }),
    scheduledAt: { $date: scheduledAt },
  }
}
