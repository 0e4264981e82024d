import { useEffect } from 'preact/hooks'
import { type Command, offer } from './commands.js'

/** Offers commands while the component is shown; again when one of `inputs` changes. */
export function useCommands(list: readonly Command[], inputs: readonly unknown[]): void {
  useEffect(() => offer(list), inputs)
}
