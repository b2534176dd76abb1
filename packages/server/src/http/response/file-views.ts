import { branch, file, folder, versionChange } from "@hamlet/contract"
import { toFileName } from "@hamlet/contract/file-paths"
import type { BranchOfVal } from "../../domain/files/branches.ts"
import type { VersionChange } from "../../domain/files/file-history.ts"
import type { FileOfVal } from "../../domain/files/files.ts"
import type { Val } from "../../domain/vals/vals.ts"
import type { Links } from "./links.ts"
import { createView, toTimeText } from "./view.ts"

/** A val without its files. */
export const toFolderView = createView(folder, (it: Val, links: Links) => ({
  author: {
    id: it.ownerId,
    type: it.isOwnerOrg ? ("org" as const) : ("user" as const),
    username: it.ownerName,
  },
  links: { self: links.folder(it.id), html: links.folderPage(it.ownerName, it.name) },
}))

/** A branch. */
export const toBranchView = createView(
  branch,
  ({ val, branch: it }: BranchOfVal, links: Links) => ({
    id: it.id,
    name: it.name,
    version: it.version,
    forkedBranchId: it.forkedFromId,
    createdAt: toTimeText(it.createdAt),
    updatedAt: toTimeText(it.updatedAt),
    links: {
      self: `${links.folder(val.id)}/branches/${it.id}`,
      html: toBranchPage({ val, branch: it }, links),
    },
  }),
)

/** A version with the paths that it has changed. */
export const toVersionChangeView = createView(versionChange, (it: VersionChange) => ({
  createdAt: toTimeText(it.createdAt),
}))

/** A file or directory. */
export const toFileView = createView(file, (it: FileOfVal, links: Links) => {
  const { path, fileId, type, since, updatedAt } = it.file
  return {
    id: fileId,
    name: toFileName(path),
    path,
    type,
    version: since,
    updatedAt: toTimeText(updatedAt),
    links: toFileLinks(it, links),
  }
})

/**
 * The web address of a file is that of its id, and the one that is made of names is another. Where a
 * val has its code from `/v1`, the code was published at the latter.
 */
function toFileLinks(it: FileOfVal, links: Links) {
  const { val, branch: at, file: one, version } = it
  // URLs have no plain brackets.
  const path = encodeURI(one.path)
  const has = (fileId: string | null) =>
    at.id === val.id && one.fileId === (fileId ?? at.entryFileId)
  const email = has(val.mailFileId) ? links.mailAddress(val) : links.fileMailAddress(one.fileId)
  return {
    self: links.file(one.fileId),
    html: `${toBranchPage(it, links)}/code/${path}`,
    module: `${links.module(val.ownerName, val.name)}@${version}-${encodeURI(at.name)}/${path}`,
    ...(one.type === "http" ? toWebLinks(it, links, has(val.endpointFileId)) : {}),
    ...(one.type === "email" && email !== undefined ? { email } : {}),
  }
}

function toWebLinks({ val, file: { fileId } }: FileOfVal, links: Links, isNamed: boolean) {
  const named = links.endpoint(val)
  if (isNamed && fileId === val.id) return { endpoint: named }
  return { endpoint: links.fileEndpoint(val, fileId), ...(isNamed ? { alias: named } : {}) }
}

function toBranchPage({ val, branch: { id, name } }: BranchOfVal, links: Links): string {
  const page = links.folderPage(val.ownerName, val.name)
  return id === val.id ? page : `${page}/branch/${encodeURI(name)}`
}
