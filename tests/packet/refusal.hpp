/// Expects an exception of a type, with a message that names what is wrong.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "bird/error.hpp"

/// `text` must stand in the message, so that a test knows which check refused.
#define EXPECT_THROW_SAYING(statement, exception, text)                                 \
  try {                                                                                 \
    static_cast<void>(statement);                                                       \
    ADD_FAILURE() << "nothing was thrown; expected \"" << (text) << '"';                \
  } catch (exception const& error) {                                                    \
    EXPECT_NE(std::string{error.what()}.find(text), std::string::npos) << error.what(); \
  }

#define EXPECT_REFUSED(statement, text) EXPECT_THROW_SAYING(statement, bird::bad_packet, text)
