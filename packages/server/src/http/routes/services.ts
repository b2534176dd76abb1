import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { readBody } from "../request/body.ts"
import { toContent, toContentType } from "../request/byte-content.ts"
import { content, done, json, jsonText } from "../response/api-response.ts"
import { toBlobResponse } from "../response/blob-response.ts"
import { toBlobView } from "../response/views.ts"

/** What vals use through the server: blobs, SQLite databases, language models and connections. */
export function serviceHandlers({ blobs, uploads, sqlite, chat, connections, api }: Nouns) {
  return {
    listBlobs: async ({ caller, query }) => {
      const { items, hasMore } = await blobs.list(caller, query)
      // The body is an array without room for a link, so the link is in a header.
      const next = new URLSearchParams({
        prefix: query.prefix,
        after: items.at(-1)?.key ?? "",
        limit: String(query.limit),
      })
      return json(
        200,
        items.map((it) => toBlobView(it)),
        hasMore ? { link: `<${api.links.baseUrl}/v1/blob?${next}>; rel="next"` } : {},
      )
    },
    getBlob: async ({ caller, params, request }) =>
      toBlobResponse(blobs, await blobs.get(caller, params.key), request, (error) =>
        api.log.warn("blob_broken_off", { error: String(error) }),
      ),
    putBlob: async ({ caller, params, request }) => {
      await uploads.put(caller, {
        key: params.key,
        contentType: toContentType(request),
        content: toContent(request),
      })
      return json(201, "ok")
    },
    deleteBlob: done(({ caller, params }) => blobs.delete(caller, params.key)),
    executeSql: async ({ caller, body }) =>
      jsonText(200, await sqlite.execute(caller, body.statement)),
    batchSql: async ({ caller, body, forwardedJson: { statements: json } }) =>
      jsonText(
        200,
        await sqlite.batch(caller, json === undefined ? body : { ...body, statements: { json } }),
      ),
    createChatCompletion: async ({ caller, request }) => {
      const { contentType, stream } = await chat.complete(
        caller,
        (bytesMax) => readBody(request, bytesMax),
        request.signal,
      )
      return { ...content(contentType, "", { "cache-control": "no-store" }), stream }
    },
    createSlackToken: async () => connections.getToken("Slack"),
    createGoogleDocsToken: async () => connections.getToken("Google Docs"),
  } satisfies Partial<Handlers>
}
