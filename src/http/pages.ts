// The paths outside of API groups: health, discovery, OpenAPI.

export * from './serve/component-pages.js'
export * from './serve/health.js'
export * from './serve/json-page.js'
export * from './serve/openapi-pages.js'
export * from './serve/pages.js'
export * from './serve/paths.js'
