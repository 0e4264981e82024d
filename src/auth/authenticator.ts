// Which user sent a request.
export * from './authn/authenticate.js'
export * from './authn/request-header.js'
export * from './authn/token-file.js'
export * from './authn/webhook-tokens.js'
export { reviewCaller } from './webhook-calls.js'
