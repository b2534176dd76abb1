import { z } from "zod"
import { route } from "../../route.ts"
import { blobsQuery } from "../../schemas/inputs.ts"
import { blob } from "../../schemas/records.ts"

/** The caller's blobs. */
export const blobRoutes = {
  listBlobs: route("Blobs", "get /v1/blob", {
    summary:
      "The caller's blobs with a prefix, sorted by key; the header `link` leads to the next page",
    scope: "blob:read",
    query: blobsQuery,
    responses: { 200: z.array(blob) },
  }),
  getBlob: route("Blobs", "get /v1/blob/{key}", {
    isRestPath: true,
    summary: "The content of a blob, with its content type",
    scope: "blob:read",
    hasEtag: true,
    hasRange: true,
    responses: { 200: "bytes", 206: "bytes" },
    errors: ["blob_not_found", "storage_unavailable"],
  }),
  putBlob: route("Blobs", "post /v1/blob/{key}", {
    isRestPath: true,
    summary: "Store a blob; replaces one with the same key",
    scope: "blob:write",
    isBytesBody: true,
    responses: { 201: z.literal("ok") },
    errors: ["quota_exceeded", "storage_unavailable"],
  }),
  deleteBlob: route("Blobs", "delete /v1/blob/{key}", {
    isRestPath: true,
    summary: "Delete a blob",
    scope: "blob:write",
    responses: { 204: null },
    errors: ["blob_not_found"],
  }),
}
