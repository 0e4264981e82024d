// Thrown in the place of a response: the connection is closed, and the client does not learn what became of its request.

export class ConnectionCut extends Error {
  override readonly name = 'ConnectionCut'
}
