import { completeChat } from "../../../domain/openai.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { readBody } from "../../request/body.ts"
import { content } from "../../response/api-response.ts"

/** Services outside that vals use through the server: language models. */
export function outsideServiceHandlers({ services }: Nouns) {
  return {
    createChatCompletion: async ({ caller, request }) => {
      const { contentType, stream } = await completeChat(
        services,
        caller,
        (bytesMax) => readBody(request, bytesMax),
        request.signal,
      )
      return { ...content(contentType, "", { "cache-control": "no-store" }), stream }
    },
  } satisfies Partial<Handlers>
}
