import { useLayoutEffect } from 'preact/hooks'
import { type Command, offer } from './commands.js'

/**
 * Offers commands while the component is shown; again when one of `inputs` changes, before the next key can arrive: a later
 * effect would let a fast typist run commands of the state before.
 */
export function useCommands(list: readonly Command[], inputs: readonly unknown[]): void {
  useLayoutEffect(() => offer(list), inputs)
}
