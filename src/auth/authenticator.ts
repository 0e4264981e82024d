// Which user sent a request.
export * from './authn/authenticate.js'
export * from './authn/request-header.js'
export * from './authn/token-file.js'
