import type { PackageCase } from "../package-case.ts"

/** Clients of language models, tokenizers and text analysis. */
export const language: readonly PackageCase[] = [
  {
    code: `import OpenAI from "npm:openai@7.53.0"
export default async ({ http }) => {
  const openai = new OpenAI({ apiKey: "k", baseURL: http + "/v1", maxRetries: 0 })
  const { path, body } = await openai.chat.completions.create({ model: "m", messages: [{ role: "user", content: "Hi" }] })
  return [path, body.model]
}`,
    returns: ["/v1/chat/completions", "m"],
  },
  {
    code: `import Anthropic from "npm:@anthropic-ai/sdk@1.8.0"
export default async ({ http }) => {
  const client = new Anthropic({ apiKey: "k", baseURL: http, maxRetries: 0 })
  const { path, body } = await client.messages.create({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] })
  return [path, body.model]
}`,
    returns: ["/v1/messages", "m"],
  },
  {
    code: `import { generateText, jsonSchema, tool } from "npm:ai@7.0.169"
export default () => {
  const add = tool({ description: "adds", inputSchema: jsonSchema({ type: "object" }), execute: async ({ a, b }) => a + b })
  return [typeof generateText, add.description]
}`,
    returns: ["function", "adds"],
  },
  {
    code: `import { PromptTemplate } from "npm:@langchain/core@1.2.13/prompts"
import { RunnableLambda } from "npm:@langchain/core@1.2.13/runnables"
export default async () => {
  const chain = PromptTemplate.fromTemplate("Hi {name}").pipe(RunnableLambda.from((prompt) => prompt.value.length))
  return chain.invoke({ name: "Ada" })
}`,
    returns: 6,
  },
  {
    code: `import { GoogleGenAI } from "npm:@google/genai@2.32.0"
export default async ({ http }) => {
  const ai = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: http } })
  return typeof (await ai.models.generateContent({ model: "m", contents: "Hi" }))
}`,
    returns: "object",
  },
  {
    code: `import { get_encoding } from "npm:tiktoken@1.0.22"
export default () => {
  const encoding = get_encoding("cl100k_base")
  const tokens = [...encoding.encode("hello world")]
  encoding.free()
  return tokens
}`,
    returns: [15339, 1917],
  },
  {
    code: `import { getEncoding } from "npm:js-tiktoken@1.0.21"
export default () => getEncoding("gpt2").encode("hello world")`,
    returns: [31373, 995],
  },
  {
    code: `import { encode, decode } from "npm:gpt-tokenizer@4.0.0"
export default () => decode(encode("hello world"))`,
    returns: "hello world",
  },
  {
    code: `import natural from "npm:natural@8.1.1"
export default () => [natural.PorterStemmer.stem("running"), natural.JaroWinklerDistance("ada", "adda") > 0.9]`,
    returns: ["run", true],
  },
  {
    code: `import nlp from "npm:compromise@14.17.0"
export default () => nlp("she walks home").verbs().toPastTense().out("text")`,
    returns: "walked",
  },
  {
    code: `import { franc } from "npm:franc@6.2.0"
export default () => franc("Sein oder Nichtsein, das ist hier die Frage")`,
    returns: "deu",
  },
]
