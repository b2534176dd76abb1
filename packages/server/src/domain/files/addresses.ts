import type { AddressFiles, Val } from "../vals/vals.ts"
import type { FileType } from "./tree.ts"

interface AddressedFile {
  readonly fileId: string
  readonly path: string
  readonly type: FileType
}

/** The files of `main` in a version. */
interface AddressedTree {
  readonly entry: Pick<AddressedFile, "fileId" | "type"> | undefined
  readonly files: readonly AddressedFile[]
}

/** A version without files. */
export const emptyTree: AddressedTree = { entry: undefined, files: [] }

/**
 * The files to which the addresses of a val lead after a save of `main`. An address that was given
 * out leads to its file or to nothing, so it belongs to the file that had it first: the code of a
 * val that was made through `/v1`, else the first file of the type that has such addresses.
 */
export function settleAddresses(
  val: AddressFiles & { readonly id: string },
  before: AddressedTree,
  after: AddressedTree,
): AddressFiles {
  const ownId = before.files.find(({ fileId }) => fileId === val.id)?.fileId
  const settle = (type: FileType) =>
    findEntry(before, type) ?? ownId ?? findEntry(after, type) ?? findFirst(after, type) ?? null
  return {
    endpointFileId: val.endpointFileId ?? settle("http"),
    mailFileId: val.mailFileId ?? settle("email"),
  }
}

function findEntry({ entry }: AddressedTree, type: FileType): string | undefined {
  return entry?.type === type ? entry.fileId : undefined
}

function findFirst({ files }: AddressedTree, type: FileType): string | undefined {
  let first: AddressedFile | undefined
  for (const file of files)
    if (file.type === type && (!first || file.path < first.path)) first = file
  return first?.fileId
}

/** The web addresses of vals and their files. */
export interface EndpointLinks {
  /** The address that is made of the names of a val. */
  endpoint(val: Pick<Val, "id" | "ownerName" | "name">): string
  /** The address that is made of the id of a file. */
  fileEndpoint(val: Pick<Val, "ownerName">, fileId: string): string
}

/** The web address of the file of a val that is started. */
export function toEndpoint(links: EndpointLinks, val: Val): string {
  return hasEndpoint(val) ? links.endpoint(val) : links.fileEndpoint(val, val.file.id)
}

/** Whether the web address that is made of the names leads to the file that is started. */
function hasEndpoint({ endpointFileId, file }: Val): boolean {
  return endpointFileId === null ? file.isEntry : file.id === endpointFileId
}

/** Whether the mail address that is made of the names leads to the file that is started. */
export function hasMailAddress({ mailFileId, file }: Pick<Val, "mailFileId" | "file">): boolean {
  return mailFileId === null ? file.isEntry : file.id === mailFileId
}
