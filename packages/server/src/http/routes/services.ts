import type { Routes } from "@hamlet/contract"
import type { Caller } from "../../domain/access/caller.ts"
import { type StorageHome, toAccountHome } from "../../domain/storage-home.ts"
import type { Call, Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { readBody } from "../request/body.ts"
import { toContent, toContentType } from "../request/byte-content.ts"
import { content, done, json, jsonText } from "../response/api-response.ts"
import { toBlobResponse } from "../response/blob-response.ts"
import { toBlobView } from "../response/views.ts"

/** What vals use through the server: blobs, SQLite databases, language models and connections. */
export function serviceHandlers(nouns: Nouns) {
  const { chat, connections } = nouns
  return {
    ...storageHandlers(nouns),
    createChatCompletion: async ({ caller, request }) => {
      const { contentType, stream } = await chat.complete(
        caller,
        (bytesMax) =>
          nouns.api.bodyBudget.run(request, caller.actorId, bytesMax, () =>
            readBody(request, bytesMax, caller.actorId),
          ),
        request.signal,
      )
      return { ...content(contentType, "", { "cache-control": "no-store" }), stream }
    },
    createSlackToken: async () => connections.getToken("Slack"),
    createGoogleDocsToken: async () => connections.getToken("Google Docs"),
  } satisfies Partial<Handlers>
}

/** Blobs and databases: `/v1` has those of the account, `/v2` those of one val. */
function storageHandlers({ blobs, uploads, sqlite, valStorage, api }: Nouns) {
  const list = async (home: StorageHome, path: string, query: ListQuery) => {
    const { items, hasMore } = await blobs.list(home, query)
    // The body is an array without room for a link, so the link is in a header.
    const next = new URLSearchParams({
      prefix: query.prefix,
      after: items.at(-1)?.key ?? "",
      limit: String(query.limit),
      ...(query.val_id === undefined ? {} : { val_id: query.val_id }),
    })
    return json(
      200,
      items.map((it) => toBlobView(it)),
      hasMore ? { link: `<${api.links.baseUrl}${path}?${next}>; rel="next"` } : {},
    )
  }
  const get = async (home: StorageHome, key: string, request: Request) =>
    toBlobResponse(blobs, await blobs.get(home, key), request, (error) =>
      api.log.warn("blob_broken_off", { error: String(error) }),
    )
  const put = async (home: StorageHome, key: string, request: Request) => {
    await uploads.put(home, {
      key,
      contentType: toContentType(request),
      content: toContent(request, home.ownerId),
    })
    return json(201, "ok")
  }
  type Named = { readonly val_id?: string | undefined }
  const blobHomeOf = (caller: Caller, { val_id: valId }: Named) =>
    valStorage.getBlobHome(caller, valId)
  /** The home of the val that the caller or the query names. */
  const homeOf = (caller: Caller, { val_id: valId }: Named) => valStorage.getHome(caller, valId)
  return {
    listBlobs: ({ caller, query }) => list(toAccountHome(caller), "/v1/blob", query),
    getBlob: ({ caller, params, request }) => get(toAccountHome(caller), params.key, request),
    putBlob: ({ caller, params, request }) => put(toAccountHome(caller), params.key, request),
    deleteBlob: done(({ caller, params }) => blobs.delete(toAccountHome(caller), params.key)),
    executeSql: async ({ caller, body }) =>
      jsonText(200, await sqlite.execute(caller, toAccountHome(caller), body.statement)),
    batchSql: async ({ caller, body, forwardedJson }) =>
      jsonText(
        200,
        await sqlite.batch(caller, toAccountHome(caller), toBatch(body, forwardedJson)),
      ),
    listValBlobs: async ({ caller, query }) =>
      list(await blobHomeOf(caller, query), "/v2/blob", query),
    getValBlob: async ({ caller, params, query, request }) =>
      get(await blobHomeOf(caller, query), params.key, request),
    putValBlob: async ({ caller, params, query, request }) =>
      put(await blobHomeOf(caller, query), params.key, request),
    deleteValBlob: done(async ({ caller, params, query }) =>
      blobs.delete(await blobHomeOf(caller, query), params.key),
    ),
    executeValSql: async ({ caller, query, body }) =>
      jsonText(200, await sqlite.execute(caller, await homeOf(caller, query), body.statement)),
    batchValSql: async ({ caller, query, body, forwardedJson }) =>
      jsonText(
        200,
        await sqlite.batch(caller, await homeOf(caller, query), toBatch(body, forwardedJson)),
      ),
  } satisfies Partial<Handlers>
}

type ListQuery = Call<Routes["listBlobs"]>["query"] & { readonly val_id?: string | undefined }

/** A large batch is forwarded as the JSON that was sent. */
function toBatch(
  body: Call<Routes["batchSql"]>["body"],
  { statements: json }: Call["forwardedJson"],
) {
  return json === undefined ? body : { ...body, statements: { json } }
}
