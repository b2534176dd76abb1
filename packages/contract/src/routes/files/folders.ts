import { route } from "../../route.ts"
import { createFolderBody, foldersQuery } from "../../schemas/files/file-inputs.ts"
import { folder } from "../../schemas/files/file-records.ts"
import { pageQuery } from "../../schemas/inputs.ts"
import { page } from "../../schemas/records.ts"

/** Vals as folders, with the routes of version 2 of the API. */
export const folderRoutes = {
  createFolder: route("Vals", "post /v2/vals", {
    summary: "Create a val without files, at version 0 of its branch `main`",
    scope: "val:write",
    body: createFolderBody,
    responses: { 201: folder },
    errors: ["name_taken", "org_not_found"],
  }),
  listFolders: route("Vals", "get /v2/vals", {
    summary: "Public vals and the caller's own, newest first, without their files",
    auth: "optional",
    scope: "val:read",
    query: foldersQuery,
    responses: { 200: page(folder) },
  }),
  getFolder: route("Vals", "get /v2/vals/{val_id}", {
    summary: "A val by its id, without its files",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    responses: { 200: folder },
  }),
  deleteFolder: route("Vals", "delete /v2/vals/{val_id}", {
    summary: "Delete a val with all its branches and files",
    scope: "val:write",
    valAccess: "own",
    responses: { 204: null },
  }),
  listMyFolders: route("Vals", "get /v2/me/vals", {
    summary: "The caller's vals, newest first, without their files",
    scope: "val:read",
    query: pageQuery,
    responses: { 200: page(folder) },
  }),
  getFolderByName: route("Vals", "get /v2/alias/vals/{username}/{val_name}", {
    summary: "A val by its owner and name, without its files",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    responses: { 200: folder },
  }),
}
