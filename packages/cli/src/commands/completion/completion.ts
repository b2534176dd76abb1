import { defineCommand } from "../../command.ts"
import { toBash } from "../../completion/bash.ts"
import { describeCommands } from "../../completion/describe.ts"
import { toFish } from "../../completion/fish.ts"
import { toZsh } from "../../completion/zsh.ts"

const shells = { bash: toBash, zsh: toZsh, fish: toFish }

export const command = defineCommand({
  description:
    "Names of vals are completed too: the server is asked for them, with a limit of one second.",
  examples: [
    ["source <(hamlet completion bash)", "in ~/.bashrc"],
    ["source <(hamlet completion zsh)", "in ~/.zshrc, after compinit"],
    ["hamlet completion fish | source", "in ~/.config/fish/config.fish"],
  ],
  takes: { "<shell>": { help: "the shell", choices: ["bash", "zsh", "fish"] } },
  async run({ output, describeProgram }, { shell }) {
    const script = shells[shell](describeCommands(await describeProgram()))
    if (output.mode === "json") output.json({ shell, script })
    else output.text(script)
  },
})
