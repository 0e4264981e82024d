// Who a request comes from.
export * from './authn/authenticate.js'
export * from './authn/token-file.js'
