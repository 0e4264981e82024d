// What a user may do.
export * from './authz/authorize.js'
export * from './authz/rights.js'
