// Tokens of service accounts, and the keys and documents behind them.
export * from './authn/account-tokens.js'
export * from './authn/bootstrap-tokens.js'
export * from './authn/issuer-documents.js'
export * from './authn/legacy-tokens.js'
export * from './authn/signing-key.js'
export * from './authn/token-metrics.js'
