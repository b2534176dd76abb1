import { route } from "../../route.ts"
import {
  changeFilesBody,
  changeFilesQuery,
  createFileBody,
  deleteFileQuery,
  fileContentQuery,
  fileQuery,
  filesQuery,
  updateFileBody,
} from "../../schemas/files/file-inputs.ts"
import { file, savedFiles } from "../../schemas/files/file-records.ts"
import { page } from "../../schemas/records.ts"

/** The files of a val. Without a branch, they are those of `main`. */
export const fileRoutes = {
  listFiles: route("Files", "get /v2/vals/{val_id}/files", {
    summary: "What a directory contains, by path, or the file at a path",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    query: filesQuery,
    responses: { 200: page(file) },
    errors: ["branch_not_found", "version_not_found", "file_not_found"],
  }),
  createFile: route("Files", "post /v2/vals/{val_id}/files", {
    summary: "Create a file or a directory, and the directories that it is in",
    scope: "val:write",
    valAccess: "own",
    query: fileQuery,
    body: createFileBody,
    responses: { 201: file },
    errors: [
      "branch_not_found",
      "file_exists",
      "val_full",
      "content_not_text",
      "sandbox_unavailable",
    ],
  }),
  updateFile: route("Files", "put /v2/vals/{val_id}/files", {
    summary: "Change the content or type of a file, rename or move it; all in one version",
    scope: "val:write",
    valAccess: "own",
    query: fileQuery,
    body: updateFileBody,
    responses: { 200: file },
    errors: [
      "branch_not_found",
      "file_not_found",
      "file_exists",
      "val_full",
      "content_not_text",
      "sandbox_unavailable",
    ],
  }),
  deleteFile: route("Files", "delete /v2/vals/{val_id}/files", {
    summary: "Delete a file or a directory; nothing happens if it was deleted before",
    scope: "val:write",
    valAccess: "own",
    query: deleteFileQuery,
    responses: { 204: null },
    errors: ["branch_not_found", "file_not_found", "directory_not_empty"],
  }),
  getFileContent: route("Files", "get /v2/vals/{val_id}/files/content", {
    summary: "The content of a file",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    query: fileContentQuery,
    hasEtag: true,
    responses: { 200: "bytes" },
    errors: ["branch_not_found", "version_not_found", "file_not_found", "precondition_failed"],
  }),
  getFile: route("Files", "get /v2/files/{file_id}", {
    summary: "The newest state of a file, by its id",
    auth: "optional",
    scope: "val:read",
    responses: { 200: file },
    errors: ["file_not_found"],
  }),
  changeFiles: route("Files", "post /v1/vals/{val_id}/files", {
    summary: "Write, move and delete many files in one version, or none of them",
    scope: "val:write",
    valAccess: "own",
    query: changeFilesQuery,
    body: changeFilesBody,
    hasIfMatch: true,
    responses: { 200: savedFiles },
    errors: [
      "branch_not_found",
      "file_not_found",
      "file_exists",
      "val_full",
      "content_not_text",
      "sandbox_unavailable",
    ],
  }),
}
