import { z } from "zod"
import { type RouteDefinition, route } from "../../route.ts"
import { blobsQuery, params } from "../../schemas/inputs.ts"
import { blob } from "../../schemas/records.ts"

const one = {
  path: "/v1/blob/{key}",
  tag: "Blobs",
  auth: "required",
  params: params.blob,
  isRestPath: true,
} as const satisfies Partial<RouteDefinition>

/** The caller's blobs. */
export const blobRoutes = {
  listBlobs: route({
    method: "get",
    path: "/v1/blob",
    tag: "Blobs",
    summary:
      "The caller's blobs with a prefix, sorted by key; the header `link` leads to the next page",
    auth: "required",
    scope: "blob:read",
    query: blobsQuery,
    responses: { 200: z.array(blob) },
  }),
  getBlob: route({
    ...one,
    method: "get",
    summary: "The content of a blob, with its content type",
    scope: "blob:read",
    hasEtag: true,
    hasRange: true,
    responses: { 200: "bytes", 206: "bytes" },
    errors: ["blob_not_found", "storage_unavailable"],
  }),
  putBlob: route({
    ...one,
    method: "post",
    summary: "Store a blob; replaces one with the same key",
    scope: "blob:write",
    isBytesBody: true,
    responses: { 201: null },
    errors: ["quota_exceeded", "storage_unavailable"],
  }),
  deleteBlob: route({
    ...one,
    method: "delete",
    summary: "Delete a blob",
    scope: "blob:write",
    responses: { 204: null },
    errors: ["blob_not_found"],
  }),
}
