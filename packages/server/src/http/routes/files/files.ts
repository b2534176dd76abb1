import type { addedSchedule, changeFilesBody } from "@hamlet/contract"
import { joinPath, toFileName, toParentPath } from "@hamlet/contract/file-paths"
import { sha256 } from "@hamlet/kit"
import type { z } from "zod"
import type {
  AddedSchedule,
  CheckedFile,
  FileChangeInput,
} from "../../../domain/files/file-saves.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { respondToConditions } from "../../request/preconditions.ts"
import { content, done, json } from "../../response/api-response.ts"
import { toFileView, toVersionChangeView } from "../../response/file-views.ts"
import { listOf, page } from "../../response/page.ts"
import { toTimeText } from "../../response/view.ts"

/** The files of a val. */
export function fileHandlers({ files, fileSaves, fileHistory, api: { links } }: Nouns) {
  return {
    listFiles: async (call) => {
      const { caller, params, query } = call
      const place = { ...toPlace(query), isRecursive: query.recursive }
      const found = await files.list(caller, params.val_id, place, query)
      // All pages are of the version of the first one, whatever is saved meanwhile.
      const [first] = found.items
      const of = first ? { branch_id: first.branch.id, version: String(first.version) } : {}
      return page(links, call, found, toFileView, of)
    },
    createFile: async ({ caller, params, query, body }) => {
      const change = { kind: "put", path: query.path, isNew: true, ...body } as const
      const created = await fileSaves.saveOne(caller, params.val_id, query.branch_id, change)
      return json(201, toSavedView(created, links))
    },
    updateFile: async ({ caller, params, query, body }) => {
      const { path, branch_id } = query
      const { name = toFileName(path), parent_path: parent = toParentPath(path), ...rest } = body
      const change = {
        kind: "update",
        path,
        newPath: joinPath(parent ?? "", name),
        ...rest,
      } as const
      return json(
        200,
        toSavedView(await fileSaves.saveOne(caller, params.val_id, branch_id, change), links),
      )
    },
    deleteFile: done(({ caller, params, query: { path, recursive, branch_id } }) =>
      fileSaves.save(caller, params.val_id, branch_id, [
        { kind: "delete", path, isRecursive: recursive },
      ]),
    ),
    getFileContent: async ({ caller, params, query, request }) => {
      const { text, updatedAt } = await files.getContent(caller, params.val_id, toPlace(query))
      const etag = `"${sha256(text).toString("base64url")}"`
      const response = content("application/octet-stream", text)
      return respondToConditions(response, request, etag, updatedAt)
    },
    getFile: async ({ caller, params }) =>
      json(200, toFileView(await files.get(caller, params.file_id), links)),
    listHistory: listOf(
      links,
      ({ caller, params, query }) =>
        fileHistory.list(caller, params.val_id, { ...query, branchId: query.branch_id }),
      toVersionChangeView,
    ),
    restoreFiles: async ({ caller, params, query, body, ifMatch }) => {
      const { branch, isNewVersion } = await fileHistory.restore(caller, params.val_id, {
        ...body,
        ifMatch,
        branchId: query.branch_id,
        version: params.version,
      })
      return json(200, { version: branch.version, isNewVersion })
    },
    putVersionNote: done(({ caller, params, query, body }) =>
      fileHistory.setNote(caller, params.val_id, {
        ...body,
        branchId: query.branch_id,
        version: params.version,
      }),
    ),
    changeFiles: async ({ caller, params, query, body, ifMatch }) => {
      const options = { ifMatch, note: body.note, isImport: body.isImport }
      const changes = body.changes.map(toChange)
      const saved = await fileSaves.save(caller, params.val_id, query.branch_id, changes, options)
      const { version } = saved.branch
      return json(200, {
        version,
        isNewVersion: saved.isNewVersion,
        warnings: [...saved.warnings],
        schedules: saved.schedules.map(toAddedView),
        files: saved.written.map((file) => toFileView({ ...saved, file, version }, links)),
      })
    },
  } satisfies Partial<Handlers>
}

function toSavedView(saved: CheckedFile, links: Parameters<typeof toFileView>[1]) {
  const { warnings, schedules } = saved
  const [schedule] = schedules
  return {
    ...toFileView(saved, links),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    ...(schedule ? { schedule: toAddedView(schedule) } : {}),
  }
}

function toAddedView({ fileId, nextAt, ...rest }: AddedSchedule): z.infer<typeof addedSchedule> {
  const { cron, every, timeZone, isPaused, pausedReason } = rest
  return { fileId, cron, every, timeZone, isPaused, pausedReason, nextAt: toTimeText(nextAt) }
}

function toPlace(query: {
  readonly path: string
  readonly version?: number | undefined
  readonly branch_id?: string | undefined
}) {
  return { path: query.path, version: query.version, branchId: query.branch_id }
}

function toChange(change: z.output<typeof changeFilesBody>["changes"][number]): FileChangeInput {
  if ("delete" in change) return { kind: "delete", path: change.path, isRecursive: true }
  return "newPath" in change ? { kind: "update", ...change } : { kind: "put", ...change }
}
