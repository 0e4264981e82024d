// What the user said cannot be done as said. The message is one line that tells what would be right.

export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'usage'
}
