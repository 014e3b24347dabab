# tomos_module(NAME LINK ...): the folder src/NAME as one static library.
#
# Headers are included as "NAME/file.h". Each module has an include directory of its own that holds nothing but a link to
# its folder, so a file can include a header only if its module links the header's module.
function(tomos_module name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  set(include_dir ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_dir})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${include_dir}/${name} SYMBOLIC)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${include_dir})
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${include_dir})
    target_link_libraries(${name} INTERFACE ${ARG_LINK})
  endif()
endfunction()
