import { deleteBlob, getBlob, putBlob } from "../../../domain/blobs/blobs.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { toContent, toContentType } from "../../request/byte-content.ts"
import { json, noContent } from "../../response/api-response.ts"
import { toBlobResponse } from "../../response/blob-response.ts"
import { toBlobView } from "../../response/views.ts"

/** The blobs of the caller. */
export function blobHandlers({ userData, api }: Nouns) {
  return {
    listBlobs: async ({ caller, query }) => {
      const { items, hasMore } = await userData.blobs.list(caller.userId, query)
      // The body is an array without room for a link, so the link is in a header.
      const next = new URLSearchParams({
        prefix: query.prefix,
        after: items.at(-1)?.key ?? "",
        limit: String(query.limit),
      })
      return json(
        200,
        items.map(toBlobView),
        hasMore ? { link: `<${api.links.baseUrl}/v1/blob?${next}>; rel="next"` } : {},
      )
    },
    getBlob: async ({ caller, params, request }) =>
      toBlobResponse(
        userData.objects,
        await getBlob(userData, caller, params.key),
        request,
        (error) => api.log.warn("blob_broken_off", { error: String(error) }),
      ),
    putBlob: async ({ caller, params, request }) => {
      await putBlob(userData, caller, {
        key: params.key,
        contentType: toContentType(request),
        content: toContent(request),
      })
      return noContent(201)
    },
    deleteBlob: async ({ caller, params }) => {
      await deleteBlob(userData, caller, params.key)
      return noContent()
    },
  } satisfies Partial<Handlers>
}
