import { backupType } from "@hamlet/contract/backup"
import { toAuditEntry } from "../../domain/accounts/audit.ts"
import type { RunningBackup } from "../../domain/backups.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"

/** The whole installation in one file. */
export function backupHandlers(deps: HttpDeps) {
  return {
    getBackup: async ({ caller, query, request }) => {
      const stamp = new Date(deps.now())
        .toISOString()
        .replaceAll(/[-:]|\..*/g, "")
        .replace("T", "-")
      const headers = {
        "content-type": backupType,
        "content-disposition": `attachment; filename="hamlet-${stamp}.backup"`,
      }
      if (request.method === "HEAD") return { status: 200, headers, body: null }
      await deps.audit.add(toAuditEntry(deps, caller, "backup.read"))
      const backup = await deps.backups.open({ skipDamaged: query.skipDamaged === true })
      const onBroken = (error: unknown) =>
        deps.log.warn("backup_broken_off", { error: String(error) })
      return { status: 200, headers, body: null, stream: toStream(backup, onBroken) }
    },
  } satisfies Partial<Handlers>
}

function toStream(
  backup: RunningBackup,
  onBroken: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await backup.read()
          if (piece) controller.enqueue(piece)
          else controller.close()
        } catch (error) {
          onBroken(error)
          // The connection ends in the middle, so that nobody takes what came for the whole.
          controller.error(undefined)
        }
      },
      cancel: () => backup.stop(),
    },
    { highWaterMark: 0 },
  )
}
