import { deleteBlob, getBlob, putBlob } from "../../domain/blobs/blobs.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import { toContent, toContentType } from "../request/byte-content.ts"
import { json, noContent } from "../response/api-response.ts"
import { toBlobResponse } from "../response/blob-response.ts"
import { toBlobView } from "../views/views.ts"

/** The blobs of the caller. */
export function blobHandlers(deps: HttpDeps) {
  return {
    listBlobs: async ({ caller, query }) => {
      const { items, hasMore } = await deps.blobs.list(caller.userId, query)
      // The body is an array without room for a link, so the link is in a header.
      const next = new URLSearchParams({
        prefix: query.prefix,
        after: items.at(-1)?.key ?? "",
        limit: String(query.limit),
      })
      return json(
        200,
        items.map(toBlobView),
        hasMore ? { link: `<${deps.links.baseUrl}/v1/blob?${next}>; rel="next"` } : {},
      )
    },
    getBlob: async ({ caller, params, request }) =>
      toBlobResponse(deps.objects, await getBlob(deps, caller, params.key), request, (error) =>
        deps.log.warn("blob_broken_off", { error: String(error) }),
      ),
    putBlob: async ({ caller, params, request }) => {
      await putBlob(deps, caller, {
        key: params.key,
        contentType: toContentType(request),
        content: toContent(request),
      })
      return noContent(201)
    },
    deleteBlob: async ({ caller, params }) => {
      await deleteBlob(deps, caller, params.key)
      return noContent()
    },
  } satisfies Partial<Handlers>
}
