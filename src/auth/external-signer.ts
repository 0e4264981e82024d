// Tokens of service accounts that another process signs. It is apart from the other tokens, because it needs gRPC, which no
// start loads that does not use it.
export * from './external/external-signer.js'
