// PostgreSQL's codes for what goes wrong between a client and a server.
#pragma once

namespace mneme::sqlstate {

inline constexpr const char* kProtocolViolation = "08P01";
inline constexpr const char* kInvalidBinary = "22P03";
inline constexpr const char* kBadCopyFormat = "22P04";
inline constexpr const char* kIdleInBlock = "25P03";
inline constexpr const char* kUndefinedStatement = "26000";
inline constexpr const char* kInvalidAuthorization = "28000";
inline constexpr const char* kInvalidPassword = "28P01";
inline constexpr const char* kUndefinedCursor = "34000";
inline constexpr const char* kDuplicateCursor = "42P03";
inline constexpr const char* kDuplicateStatement = "42P05";
inline constexpr const char* kInvalidCursorDefinition = "42P11";
inline constexpr const char* kTooManyConnections = "53300";
inline constexpr const char* kCantChangeParameter = "55P02";
inline constexpr const char* kCannotConnectNow = "57P03";

}  // namespace mneme::sqlstate
