import { createChatAllowance } from "../domain/openai.ts"
import { createChatService } from "../runtime/openai/chat-service.ts"
import type { Foundation } from "./foundation.ts"

/** Services outside that vals use through the server: language models. */
export function createServices({ config, now }: Foundation) {
  const { service } = config.openAi
  return {
    chatService: service ? createChatService(service) : null,
    chatAllowance: createChatAllowance(config.openAi, now),
  }
}
