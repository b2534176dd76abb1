import { Argument, type Command } from "commander"
import { defineCommand } from "../../command.ts"
import { toBash } from "../../completion/bash.ts"
import { describeCommands } from "../../completion/describe.ts"
import { toFish } from "../../completion/fish.ts"
import { toZsh } from "../../completion/zsh.ts"
import type { Context } from "../../context.ts"

interface CompletionOptions {
  readonly shell: keyof typeof shells
}

const shells = { bash: toBash, zsh: toZsh, fish: toFish }

export const command = defineCommand<CompletionOptions>({
  description:
    "Names of vals are completed too: the server is asked for them, with a limit of one second.",
  examples: [
    ["source <(hamlet completion bash)", "in ~/.bashrc"],
    ["source <(hamlet completion zsh)", "in ~/.zshrc, after compinit"],
    ["hamlet completion fish | source", "in ~/.config/fish/config.fish"],
  ],
  configure: (command: Command) =>
    command.addArgument(new Argument("<shell>", "the shell").choices(Object.keys(shells))),
  run: printCompletion,
})

async function printCompletion(
  { output, describeProgram }: Context,
  { shell }: CompletionOptions,
): Promise<void> {
  const script = shells[shell](describeCommands(await describeProgram()))
  if (output.mode === "json") output.json({ shell, script })
  else output.text(script)
}
