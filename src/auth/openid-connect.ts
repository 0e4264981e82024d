// OpenID Connect: bearer tokens of other issuers.
export { JWS_ALGORITHMS } from './authn/json-web-token.js'
export * from './oidc/authentication-configuration.js'
export type { JwtIssuer } from './oidc/check-issuers.js'
export * from './oidc/jwt-tokens.js'
