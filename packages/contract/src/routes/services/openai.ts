import { route } from "../../route.ts"

/** The language models that the operator offers, with the wire format of OpenAI. */
export const openAiRoutes = {
  createChatCompletion: route("Services", "post /v1/openai/chat/completions", {
    summary:
      "OpenAI's chat completions with the operator's key: the body and the response are those of the service, a stream of events with `stream: true`",
    scope: "openai:write",
    isBytesBody: true,
    responses: { 200: "bytes" },
    errors: ["openai_refused", "openai_unavailable", "openai_failed"],
  }),
}
