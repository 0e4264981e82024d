// The one error that decoding throws. Its message is what Kubernetes says of such a body, word for word.

/**
 * `malformed`: the bytes are not of the format at all; Kubernetes finds this before it looks for apiVersion and kind.
 * `unacceptable`: well formed, but holding a value that no object can hold, such as 1e400 or a map key twice in CBOR.
 */
export type CodecErrorKind = 'malformed' | 'unacceptable'

export class CodecError extends Error {
  override readonly name = 'CodecError'

  constructor(
    readonly fault: CodecErrorKind,
    message: string,
    /** How many bytes had been read, where the format tells. */
    readonly offset?: number,
  ) {
    super(message)
  }
}
