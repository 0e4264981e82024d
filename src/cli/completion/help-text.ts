// Reads the help text of a command: it is the one description of the flags that every command has.

/** The flags, in the order of the text; `--name=` if a value follows. */
export function flagsIn(help: string): readonly string[] {
  const lines = help.matchAll(/^ {2,}(--[a-z][a-z0-9-]*)(=?)/gm)
  return [...new Set([...lines].map(([, name, equals]) => `${name}${equals}`))]
}
